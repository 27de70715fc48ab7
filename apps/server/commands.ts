import { backupCommand } from './backup/backupCommand.ts';
import { restoreCommand } from './backup/restoreCommand.ts';
import { certificateCommand } from './certificate/certificateCommand.ts';
import {
  accountCommand,
  diffCommand,
  failedCommand,
  retryCommand,
  statusCommand,
  syncCommand,
} from './crm/commands.ts';
import { doctorCommand } from './doctor/doctorCommand.ts';
import {
  documentsAcceptCommand,
  documentsAddCommand,
  documentsDueCommand,
  documentsFetchCommand,
  documentsListCommand,
  documentsRejectCommand,
  documentsShowCommand,
} from './documents/commands.ts';
import { documentsEncryptCommand } from './documents/encryptCommand.ts';
import { rotateDocumentKeyCommand } from './documents/rotateKeyCommand.ts';
import { documentsUnknownCommand } from './documents/unknownCommand.ts';
import { ordersListCommand, ordersShowCommand, ordersUnshipCommand } from './fulfilment/commands.ts';
import {
  invitationsExplainCommand,
  invitationsExtendCommand,
  invitationsListCommand,
  invitationsWithdrawCommand,
} from './invitations/commands.ts';
import { importCommand } from './invitations/importCommand.ts';
import { mintCommand } from './invitations/mintCommand.ts';
import { findCommand } from './join/findCommand.ts';
import { ledgerCommand } from './ledger/ledgerCommand.ts';
import {
  lettersListCommand,
  lettersRetryCommand,
  lettersShowCommand,
  lettersStopCommand,
} from './letters/commands.ts';
import { linkCheckCommand, linksCommand } from './links/linksCommand.ts';
import { rotateCommand } from './links/rotateCommand.ts';
import { noticesCommand } from './notices/noticesCommand.ts';
import { linksRevokeCommand } from './pass/revokeCommand.ts';
import { correctCommand } from './people/correctCommand.ts';
import { keepApartCommand, mergeCommand, unmergeCommand } from './people/mergeCommands.ts';
import type { Command, LoneCommand } from './platform/command.ts';
import { migrateCommand } from './platform/database/migrateCommand.ts';
import { personEraseCommand } from './privacy/eraseCommand.ts';
import { personExportCommand } from './privacy/exportCommand.ts';
import { retentionCommand } from './privacy/retentionCommand.ts';
import { reconcileCommand, settleCommand } from './settlement/commands.ts';
import { refundAssignCommand, refundCommand } from './settlement/refundCommands.ts';
import { ordersShipCommand } from './settlement/shipCommand.ts';
import { setupCommand } from './setup/setupCommand.ts';
import { storyCommand } from './story/storyCommand.ts';

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
  rotateCommand,
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
  backupCommand,
  restoreCommand,
  migrateCommand,
  setupCommand,
  doctorCommand,
];
