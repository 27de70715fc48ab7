/**
 * dist/scripts.json of the web build: the script of the first load, and for each chunk name (apps/web/screens/lazyScreens.tsx) the
 * other scripts that the chunk needs. The server sends them as preload links with the page.
 */
export interface ScriptFiles {
  index: string;
  downloads: Record<string, string[]>;
}
