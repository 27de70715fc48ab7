import { basename, dirname } from 'node:path';

/** The folder `apps/server`. This file is in `platform` there; in the built server it is part of the bundle in `dist`. */
export const serverFolder = dirname(import.meta.dirname);
export const isBuilt = basename(import.meta.dirname) === 'dist';
