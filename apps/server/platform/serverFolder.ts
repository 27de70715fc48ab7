import { basename, dirname } from 'node:path';

/**
 * The folder `apps/server`. It is the parent of this file's folder, which is `platform` in the sources and `dist` in the built
 * bundle.
 */
export const serverFolder = dirname(import.meta.dirname);
export const isBuilt = basename(import.meta.dirname) === 'dist';
