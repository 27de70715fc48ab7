import { backupCommand, restoreCommand } from './backup.ts';
import { certificateCommand } from './certificate.ts';
import type { Command, LoneCommand } from './command.ts';
import {
  accountCommand,
  diffCommand,
  failedCommand,
  retryCommand,
  statusCommand,
  syncCommand,
} from './contacts.ts';
import { doctorCommand } from './doctor.ts';
import {
  documentsAcceptCommand,
  documentsAddCommand,
  documentsDueCommand,
  documentsFetchCommand,
  documentsListCommand,
  documentsRejectCommand,
  documentsShowCommand,
  documentsUnknownCommand,
} from './documents.ts';
import { findCommand, storyCommand } from './find.ts';
import {
  importCommand,
  invitationsExplainCommand,
  invitationsExtendCommand,
  invitationsListCommand,
  invitationsWithdrawCommand,
  mintCommand,
} from './invitations.ts';
import { documentsEncryptCommand, rotateDocumentKeyCommand, rotateLinkSecretCommand } from './keys.ts';
import { ledgerCommand } from './ledger.ts';
import {
  lettersListCommand,
  lettersRetryCommand,
  lettersShowCommand,
  lettersStopCommand,
} from './letters.ts';
import { linkCheckCommand, linksCommand, linksRevokeCommand } from './links.ts';
import { migrateCommand } from './migrate.ts';
import { noticesCommand, noticesDoneCommand } from './notices.ts';
import { ordersListCommand, ordersShipCommand, ordersShowCommand, ordersUnshipCommand } from './orders.ts';
import { correctCommand, keepApartCommand, mergeCommand, unmergeCommand } from './people.ts';
import { personEraseCommand, personExportCommand, retentionCommand } from './privacy.ts';
import { refundAssignCommand, refundCommand } from './refunds.ts';
import { reconcileCommand, settleCommand } from './settlement.ts';
import { setupCommand } from './setup.ts';

/** The staff's commands, in the order in which `help` lists them. */
export const commands: readonly (Command | LoneCommand)[] = [
  importCommand,
  mintCommand,
  invitationsListCommand,
  invitationsExplainCommand,
  invitationsWithdrawCommand,
  invitationsExtendCommand,
  syncCommand,
  statusCommand,
  failedCommand,
  retryCommand,
  diffCommand,
  accountCommand,
  linkCheckCommand,
  linksCommand,
  linksRevokeCommand,
  rotateLinkSecretCommand,
  rotateDocumentKeyCommand,
  findCommand,
  certificateCommand,
  storyCommand,
  refundAssignCommand,
  refundCommand,
  reconcileCommand,
  settleCommand,
  ledgerCommand,
  ordersListCommand,
  ordersShowCommand,
  ordersShipCommand,
  ordersUnshipCommand,
  documentsListCommand,
  documentsShowCommand,
  documentsAddCommand,
  documentsAcceptCommand,
  documentsRejectCommand,
  documentsDueCommand,
  documentsFetchCommand,
  documentsUnknownCommand,
  documentsEncryptCommand,
  lettersListCommand,
  lettersShowCommand,
  lettersRetryCommand,
  lettersStopCommand,
  correctCommand,
  mergeCommand,
  unmergeCommand,
  keepApartCommand,
  personExportCommand,
  personEraseCommand,
  retentionCommand,
  noticesCommand,
  noticesDoneCommand,
  backupCommand,
  restoreCommand,
  migrateCommand,
  setupCommand,
  doctorCommand,
];
