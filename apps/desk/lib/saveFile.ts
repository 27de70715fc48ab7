/** Makes the browser save a file. */
export function saveFile(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // The URL is revoked later, since the browser may read the file only after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
