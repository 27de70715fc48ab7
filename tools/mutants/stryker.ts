import { rmSync } from 'node:fs';

/**
 * StrykerJS in a process of its own, the head of its group, since it ends on a signal without ending its tests first. Takes
 * its options as a message, answers with its results, and ends with everything that it started when the run is gone.
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
