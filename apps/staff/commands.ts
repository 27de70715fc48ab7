import { backupCommands } from './backup.ts';
import { certificateCommands } from './certificate.ts';
import type { Command } from './command.ts';
import { contactsCommands } from './contacts.ts';
import { deskCommands } from './desk.ts';
import { doctorCommands } from './doctor.ts';
import { documentCommands } from './documents.ts';
import { findCommands } from './find.ts';
import { invitationCommands } from './invitations.ts';
import { keyCommands } from './keys.ts';
import { ledgerCommands } from './ledger.ts';
import { letterCommands } from './letters.ts';
import { linkCommands } from './links.ts';
import { migrateCommands } from './migrate.ts';
import { noticeCommands } from './notices.ts';
import { orderCommands } from './orders.ts';
import { personCommands } from './people.ts';
import { privacyCommands } from './privacy.ts';
import { refundCommands } from './refunds.ts';
import { settlementCommands } from './settlement.ts';
import { setupCommands } from './setup.ts';

/** The staff's commands, in the order in which `help` lists them. */
export const commands: readonly Command[] = [
  ...invitationCommands,
  ...contactsCommands,
  ...linkCommands,
  ...keyCommands,
  ...findCommands,
  ...certificateCommands,
  ...refundCommands,
  ...settlementCommands,
  ...ledgerCommands,
  ...orderCommands,
  ...documentCommands,
  ...letterCommands,
  ...personCommands,
  ...privacyCommands,
  ...noticeCommands,
  ...backupCommands,
  ...migrateCommands,
  ...deskCommands,
  ...setupCommands,
  ...doctorCommands,
];
