/**
 * The content of dist/scripts.json, written by the web build. `index` is the page's entry script. `downloads` lists, for each chunk
 * name (apps/web/screens/lazyScreens.tsx), the other scripts that the chunk needs. The server adds them to the page as preload
 * links.
 */
export interface ScriptFiles {
  index: string;
  downloads: Record<string, string[]>;
}
