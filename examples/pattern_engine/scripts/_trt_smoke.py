"""Tests models/toy_mlp.engine."""
import smoke

if __name__ == '__main__':
    smoke.main('toy_mlp')
