import { open } from 'node:fs/promises';

/**
 * Loaded before a server (`--import`), it lets a file's sync do nothing: for the comparison with servers that do not sync.
 * The rest of the server is as it is.
 */
const file = await open('/dev/null');
const everyFile = Object.getPrototypeOf(file) as { sync(): Promise<void> };
everyFile.sync = async () => {};
await file.close();
