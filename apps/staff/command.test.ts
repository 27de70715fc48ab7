import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plain } from '#core/cleanText.ts';
import { commandNamed } from './command.ts';
import { ledgerCommand } from './ledger.ts';
import { refundAssignCommand, refundCommand } from './refunds.ts';

const commands = [refundCommand, refundAssignCommand, ledgerCommand];

test('a command is named by its first words, and all that follows is its own', () => {
  const days = ['--from', '2026-01-01', '--to', '2026-01-31'];
  assert.deepEqual(commandNamed(commands, ['ledger', ...days]), { command: ledgerCommand, rest: days });
  assert.deepEqual(commandNamed(commands, ['refund', 'pi_1']), { command: refundCommand, rest: ['pi_1'] });
});

test('of two names the longer one is meant', () => {
  assert.deepEqual(commandNamed(commands, ['refund', 'assign', 're_1', '--none']), {
    command: refundAssignCommand,
    rest: ['re_1', '--none'],
  });
});

test('words that name no command are none', () => {
  assert.equal(commandNamed(commands, ['refunds']), null);
});

test('of what came from outside nothing makes another line, moves the cursor or turns the text', () => {
  const text = 'Rivera\r\n\t\u001b[2J\u009b31m\u0007\u2028\u2029\u061c\u200e\u200f\u202e\u2066, Zoë';
  assert.equal(plain(text), 'Rivera[2J31m, Zoë');
});
