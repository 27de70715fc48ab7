/**
 * dist/scripts.json of the web build: the script of the first load, and by each download's name (apps/web/screens/lazyScreens.tsx) the
 * scripts that it is made of beside that one. The server names them with the page, so that they are on their way before the
 * first one has run.
 */
export interface ScriptFiles {
  index: string;
  downloads: Record<string, string[]>;
}
