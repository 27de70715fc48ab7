/** System error codes that concern a file, a folder or a disk. */
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

/** Returns a sentence if the error is that of a file operation; null for any other error. */
export function fileFaultOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const { code, syscall } = error as NodeJS.ErrnoException;
  // Connecting to a Unix socket can fail with the same codes, but is not a file operation.
  if (code === undefined || syscall === undefined || syscall === 'connect' || !OF_FILES.includes(code))
    return null;
  return `A file could not be read or written (${code}): ${error.message}.`;
}
