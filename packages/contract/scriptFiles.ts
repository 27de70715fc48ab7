/**
 * The content of dist/scripts.json, which the web build writes. `index` is the page's entry script. `downloads` has, for each
 * chunk name (apps/web/screens/lazyScreens.tsx), the other scripts that the chunk needs. The server puts preload links for these
 * scripts into the page.
 */
export interface ScriptFiles {
  index: string;
  downloads: Record<string, string[]>;
}
