import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { cleanEmail, plain } from '#core/cleanText.ts';
import { isEmail } from '#core/studentDetails.ts';
import { saveDocument } from '../documents/saveDocument.ts';
import { type Command, misused, readArgs } from '../platform/command.ts';
import { findPerson } from './findPerson.ts';
import { pageOf, readPerson } from './readPerson.ts';

const personExportOptions = { to: { type: 'string' } } as const;

export const personExportCommand: Command = {
  options: personExportOptions,
  usage: 'person export EMAIL --to DIR',
  summary:
    'Write everything that Induct has about a person to a new or empty folder: a page to read, data.json, and their documents.',
  async run(args, { deps }) {
    const read = readArgs(args, personExportOptions);
    const [given = '', ...more] = read?.positionals ?? [];
    const email = cleanEmail(given);
    const to = read?.values.to;
    if (!to || !isEmail(email) || more.length > 0) return misused(personExportCommand);
    const person = await findPerson(deps, email);
    const { sections, documents } = await readPerson(deps, person);
    if (sections.length === 0) {
      console.error('Induct has nothing of this email.');
      return 1;
    }
    if (!(await isEmptyFolder(to))) {
      console.error(`${plain(to)} must be a new or an empty folder.`);
      return 1;
    }
    const about = { society: deps.society.society.name, email: person.email, at: deps.now() };
    const write = (name: string, text: string) =>
      writeFile(join(to, name), text, { flag: 'wx', mode: 0o600 });
    await write('index.html', pageOf(about, sections, documents));
    const data = Object.fromEntries(sections.map(({ title, rows }) => [title, rows]));
    await write('data.json', `${JSON.stringify({ ...about, data }, null, 2)}\n`);
    if (documents.length > 0) await mkdir(join(to, 'documents'), { mode: 0o700 });
    let written = 0;
    for (const { storageKey: key, sha256, fileName } of documents) {
      const refused = await saveDocument(deps, { key, sha256 }, join(to, 'documents', fileName));
      if (refused === null) written++;
      else console.error(refused);
    }
    console.log(
      `Written to ${to}: index.html, data.json and ${written} of ${documents.length} document${documents.length === 1 ? '' : 's'}. It is all about one person: give it to nobody else.`,
    );
    if (person.ofOthers > 0)
      console.log(
        'Not in it: joins that have another email, though letters or payments of them had this one. Of these only what had it is told.',
      );
    for (const id of person.others)
      console.log(`Not in it: contact ${id}, which a join names and which has another email.`);
    return written === documents.length ? 0 : 1;
  },
};

/** Creates the folder if it does not exist. Returns false if the path is a file or a folder that is not empty. */
async function isEmptyFolder(path: string): Promise<boolean> {
  try {
    await makeFolder(path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOTDIR') return false;
    if (codeOf(error) !== 'EEXIST') throw error;
  }
  const entries = await readdir(path).catch(() => null);
  return entries?.length === 0;
}

/**
 * Creates a folder, and its parents. Node's option `recursive` would never end for a folder that cannot be created, such as
 * /proc/x.
 */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || existsSync(dirname(path))) throw error;
    await makeFolder(dirname(path));
    await mkdir(path, { mode: 0o700 });
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as { code?: string }).code;
}
