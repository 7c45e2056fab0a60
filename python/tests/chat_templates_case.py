"""Chat templates in the styles that families of models have, written for these tests (chat_templates/), and random conversations."""
import os
import random

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'chat_templates')
# Whether roles have to take turns, and whether there may be a system message. macros.jinja: types of a tool's parameters by a macro that
# calls itself, as templates that write TypeScript or Python have.
FAMILIES = {'chatml': (False, True), 'chatml_tools': (False, True), 'llama_2': (True, True), 'llama_3': (False, True),
            'mistral': (True, True), 'phi_3': (False, True), 'gemma': (True, False),
            'deepseek': (False, True), 'macros': (False, True)}


def read(name):
    with open(os.path.join(FOLDER, name), encoding='utf-8') as file:
        return file.read()


WORDS = ['hello', 'Größe', '日本語', '<b>', '"quoted"', "it's", 'a\\b', 'x\n\ny', '  spaced  ', '{{ no }}', '{% no %}', '🙂', '</think>',
         '<think>', '', '\t', '100%', 'naïve\u00a0', 'İ', '\x7f', 'end\n']
TOOL = {'type': 'function', 'function': {
    'name': 'get_weather', 'description': 'weather of a "city" in ö', 'parameters': {
        'type': 'object', 'required': ['city'], 'properties': {
            'city': {'type': 'string'},
            'days': {'type': 'integer', 'default': 3, 'maximum': 1.5e3},
            'units': {'enum': ['C', 'F', None, True]},
            'points': {'type': 'array', 'items': {'type': 'object', 'properties': {'x': {'type': 'number', 'minimum': -0.25}}}}}},
    'return': {'type': 'string'}}}


class Conversations:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def text(self):
        return ''.join(self.random.choice(WORDS) + self.random.choice(['', ' ', '\n']) for _ in range(self.random.randint(0, 5)))

    def call(self):
        arguments = {'city': self.text(), 'days': self.random.choice([1, -2, 0.5, 1e20, None, True, [], {}, [1, 'a']])}
        function = {'name': 'get_weather', 'arguments': arguments}
        return {'id': self.random.choice(['abcdefghi', 'short']), 'type': 'function', 'function': function}

    def message(self, role):
        message = {'role': role, 'content': self.text()}
        if role == 'assistant' and self.random.random() < 0.25:
            message['tool_calls'] = [self.call() for _ in range(self.random.randint(1, 2))]
        elif role == 'user' and self.random.random() < 0.1:
            message['content'] = [{'type': 'text', 'text': self.text()}, {'type': 'image'}]
        return message

    def conversation(self, alternates, system):
        """Messages as a family likes them; one in eight as it does not."""
        if self.random.random() < 0.125:
            alternates, system = not alternates, True
        start = ['system'] if system and self.random.random() < 0.5 else []
        count = self.random.randint(1, 7)
        turns = ['user', 'assistant'] * 4 if alternates else [self.random.choice(['user', 'assistant', 'tool']) for _ in range(count)]
        return [self.message(role) for role in start + turns[:count]]

    def variables(self):
        """Arguments of apply_chat_template()."""
        given = {'add_generation_prompt': self.random.random() < 0.5, 'date_string': '26 Jul 2024'}
        if self.random.random() < 0.4:
            given['tools'] = [TOOL] * self.random.randint(1, 2)
        if self.random.random() < 0.2:
            given['enable_thinking'] = self.random.random() < 0.5
        if self.random.random() < 0.2:
            given['tools_in_user_message'] = False
        return given
