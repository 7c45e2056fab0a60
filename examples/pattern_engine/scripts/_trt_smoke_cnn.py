"""Tests models/toy_cnn.engine."""
import smoke

if __name__ == '__main__':
    smoke.main('toy_cnn')
