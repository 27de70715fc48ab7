import type { Stage } from './faults.ts';

/**
 * A refusal with 5xx in the words of a provider. `{to}` in its message stands for the recipient. `concerns` is what the provider
 * refuses: all letters of the `account`, or only letters to this `recipient`.
 */
export interface Refused {
  at: Stage;
  status: number;
  message: string;
  concerns: 'account' | 'recipient';
}

/**
 * Refusals that come after the recipient or after the letter, by provider, as providers document them or as users report them.
 */
export const refusals: Readonly<Record<string, Refused>> = {
  googleUserLimit: {
    at: 'data',
    status: 550,
    message:
      '5.4.5 Daily user sending limit exceeded. For more information on Gmail sending limits go to https://support.google.com/a/answer/166852 - gsmtp',
    concerns: 'account',
  },
  googleRelayLimit: {
    at: 'rcpt',
    status: 550,
    message: '5.7.1 Daily SMTP relay limit exceeded for customer. - gsmtp',
    concerns: 'account',
  },
  microsoftSendAs: {
    at: 'data',
    status: 554,
    message:
      '5.2.0 STOREDRV.Submission.Exception:SendAsDeniedException.MapiExceptionSendAsDenied; Failed to process message due to a permanent exception with message Cannot submit message.',
    concerns: 'account',
  },
  microsoftSender: {
    at: 'data',
    status: 550,
    message: '5.7.60 SMTP; Client does not have permissions to send as this sender',
    concerns: 'account',
  },
  microsoftBlockedSender: {
    at: 'data',
    status: 550,
    message: '5.1.8 Access denied, bad outbound sender AS(42004)',
    concerns: 'account',
  },
  sesPaused: {
    at: 'data',
    status: 554,
    message:
      'Message rejected: Sending paused for this account. For more information, please check the inbox of the email address associated with your AWS account.',
    concerns: 'account',
  },
  sesSandbox: {
    at: 'data',
    status: 554,
    message:
      'Message rejected: Email address is not verified. The following identities failed the check in region US-EAST-1: {to}',
    concerns: 'account',
  },
  sendGridSender: {
    at: 'data',
    status: 550,
    message:
      'The from address does not match a verified Sender Identity. Mail cannot be sent until this error is resolved.',
    concerns: 'account',
  },
  postfixRelay: {
    at: 'rcpt',
    status: 554,
    message: '5.7.1 <{to}>: Relay access denied',
    concerns: 'account',
  },
  postfixQuota: {
    at: 'rcpt',
    status: 554,
    message: '5.7.1 <{to}>: Recipient address rejected: You have exceeded your quota.',
    concerns: 'account',
  },
  eximLimit: {
    at: 'rcpt',
    status: 550,
    message: 'Domain society.example has exceeded the max emails per hour (500/500 (100%)) allowed.',
    concerns: 'account',
  },
  googleUnknown: {
    at: 'rcpt',
    status: 550,
    message:
      "5.1.1 The email account that you tried to reach does not exist. Please try double-checking the recipient's email address - gsmtp",
    concerns: 'recipient',
  },
  googleDisabled: {
    at: 'rcpt',
    status: 550,
    message: '5.2.1 The email account that you tried to reach is disabled. - gsmtp',
    concerns: 'recipient',
  },
  microsoftUnknown: {
    at: 'rcpt',
    status: 550,
    message: '5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient {to} not found by SMTP address lookup',
    concerns: 'recipient',
  },
  postfixUnknown: {
    at: 'rcpt',
    status: 550,
    message: '5.1.1 <{to}>: Recipient address rejected: User unknown in virtual mailbox table',
    concerns: 'recipient',
  },
  postfixDomain: {
    at: 'rcpt',
    status: 550,
    message: '5.1.2 <{to}>: Recipient address rejected: Domain not found',
    concerns: 'recipient',
  },
  eximUnknown: {
    at: 'rcpt',
    status: 550,
    message: '<{to}>: Unrouteable address',
    concerns: 'recipient',
  },
};
