import { rmSync } from 'node:fs';

/**
 * Runs StrykerJS in a separate process that leads its own process group, since StrykerJS itself would end on a signal and leave its
 * tests running. Receives its options and returns its results by IPC messages. When the parent ends, this process kills itself and
 * all processes that it started.
 */
process.once('message', async (options: { tempDirName: string }) => {
  process.once('disconnect', () => {
    rmSync(options.tempDirName, { recursive: true, force: true });
    process.kill(process.platform === 'win32' ? process.pid : -process.pid, 'SIGKILL');
  });
  const { Stryker } = await import('@stryker-mutator/core');
  const results = await new Stryker(options as never).runMutationTest();
  process.send!(results, () => process.exit(0));
});
