import type { RsbuildPlugin } from '@rsbuild/core';

/**
 * Some packages make components by a call at the top of a file and name them for development tools. A bundler must take
 * both for something that happens, so it keeps the components although nobody imports them, with all that they import. This says
 * that such a call only makes a value, and leaves the names out. A package that is written otherwise one day stays as it
 * is: then `local/budgets.test.ts` tells of it.
 */
const makers: readonly { files: RegExp; call: RegExp; name: RegExp }[] = [
  {
    // Link and NavLink with what they prefetch in framework mode: 3 kB of the first load.
    files: /[\\/]react-router[\\/]dist[\\/]production[\\/].*\.js$/,
    call: /= (React[\w$]*\.(?:forwardRef|createContext)\()/g,
    name: /^\w+\.displayName = "\w+";$/gm,
  },
];

export function pluginDroppable(): RsbuildPlugin {
  return {
    name: 'droppable',
    setup(api) {
      for (const { files, call, name } of makers)
        api.transform({ test: files }, ({ code }) =>
          code.replace(call, '= /* @__PURE__ */ $1').replace(name, ''),
        );
    },
  };
}
