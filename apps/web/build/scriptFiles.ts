import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RsbuildPlugin } from '@rsbuild/core';
import type { ScriptFiles } from '../../../packages/contract/scriptFiles.ts';

/** Writes dist/scripts.json, from which the server learns which scripts to preload for a screen. */
export function pluginScriptFiles(): RsbuildPlugin {
  return {
    name: 'script-files',
    setup(api) {
      api.onAfterEnvironmentCompile(({ stats, environment }) => {
        if (environment.name !== 'web' || !stats) return;
        const { namedChunkGroups = {} } = stats.toJson({ all: false, chunkGroups: true, assets: true });
        const scripts = (name: string) =>
          (namedChunkGroups[name]?.assets ?? [])
            .map((asset) => `/${asset.name}`)
            .filter((file) => file.endsWith('.js'));
        const index = scripts('index')[0]!;
        const names = Object.keys(namedChunkGroups).filter((name) => name !== 'index');
        const files: ScriptFiles = {
          index,
          downloads: Object.fromEntries(
            names.map((name) => [name, scripts(name).filter((file) => file !== index)]),
          ),
        };
        writeFileSync(join(environment.distPath, 'scripts.json'), JSON.stringify(files));
      });
    },
  };
}
