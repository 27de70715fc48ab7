/** Codes of system errors about a file, a folder or a disk, but not about connections. */
const OF_FILES = [
  'EACCES',
  'EDQUOT',
  'EEXIST',
  'EFBIG',
  'EIO',
  'EISDIR',
  'ELOOP',
  'EMFILE',
  'ENAMETOOLONG',
  'ENFILE',
  'ENOENT',
  'ENOSPC',
  'ENOTDIR',
  'ENOTEMPTY',
  'EPERM',
  'EROFS',
];

/** Returns the sentence about a file that could not be read or written; null for any other error. */
export function fileFaultOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const { code, syscall } = error as NodeJS.ErrnoException;
  // A failed `connect` to a Unix socket may have such a code, too.
  if (code === undefined || syscall === undefined || syscall === 'connect' || !OF_FILES.includes(code))
    return null;
  return `A file could not be read or written (${code}): ${error.message}.`;
}
