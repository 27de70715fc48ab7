import { serveMetrics } from '../../apps/server/running/serveMetrics.ts';
import type { TestServer } from './testServer.ts';

/** One line of a metrics page: `induct_queue_size{queue="crm"}` and its value. */
export interface Sample {
  series: string;
  value: number;
}

/**
 * Serves a test server's metrics. Each scrape is computed again, except that values from the database may be up to `keptMs` old.
 */
export async function metricsOf({ deps, background }: TestServer, keptMs = 0) {
  const served = await serveMetrics({ ...deps, database: background }, 0, { keptMs });
  return { ...served, scrape: () => scrape(served.url) };
}

export async function scrape(url: string): Promise<string> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}.`);
  return answer.text();
}

/** Returns every sample of a page in Prometheus's text format. */
export function samplesOf(page: string): Sample[] {
  return page
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const cut = line.lastIndexOf(' ');
      return { series: line.slice(0, cut), value: Number(line.slice(cut + 1).replace('+Inf', 'Infinity')) };
    });
}

/** Returns the sum of the samples that have this name and all of these labels; undefined when there is none. */
export function sampleOf(page: string, name: string, ...labels: string[]): number | undefined {
  const found = samplesOf(page).filter(
    ({ series }) => series.split('{')[0] === name && labels.every((label) => series.includes(label)),
  );
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
}
