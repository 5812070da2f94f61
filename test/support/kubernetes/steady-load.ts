import { setTimeout as wait } from 'node:timers/promises';

import type { ProxyMember } from './proxy-member.ts';

const PAUSE_MS = 10;

/** Requests that are sent while something else happens. */
export interface SteadyLoad extends AsyncDisposable {
  /** Stops, and returns the number of requests, and the failures. */
  stop(): Promise<LoadResult>;
}

interface LoadResult {
  readonly requests: number;
  readonly failures: readonly string[];
}

/** Sends requests for a host to each proxy, one after another, about a hundred a second. */
export function startSteadyLoad(proxies: readonly ProxyMember[], host: string): SteadyLoad {
  const failures: string[] = [];
  let requests = 0;
  let isStopped = false;
  const asking = proxies.map(async (proxy) => {
    while (!isStopped) {
      requests += 1;
      try {
        const { status, body } = await proxy.ask(host);
        if (status !== 200) failures.push(`${String(status)} ${body}`);
      } catch (error) {
        failures.push(String(error));
      }
      await wait(PAUSE_MS);
    }
  });
  const stop = async (): Promise<LoadResult> => {
    isStopped = true;
    await Promise.all(asking);
    return { requests, failures };
  };
  return {
    stop,
    [Symbol.asyncDispose]: async () => {
      await stop();
    },
  };
}
