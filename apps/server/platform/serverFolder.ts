import { basename, dirname } from 'node:path';

/** The folder `apps/server`: this file is in `platform` there, and the built server, which has it within, in `dist`. */
export const serverFolder = dirname(import.meta.dirname);
export const isBuilt = basename(import.meta.dirname) === 'dist';
