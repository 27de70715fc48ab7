import { basename, dirname } from 'node:path';

const here = import.meta.dirname;
/** The folder `apps/server`, for the program from its sources as well as for the one that was built into `dist`. */
export const serverFolder = basename(here) === 'dist' ? dirname(here) : here;
