import { setTimeout as wait } from 'node:timers/promises';

import type { ProxyMember } from '../../support/kubernetes/proxy-member.ts';
import { proxyName, type Installation } from './installation.ts';
import type { ProcessReport } from './probes.ts';

const READY_POLL_MS = 5;
const READY_DEADLINE_MS = 60_000;
/** Time until the work after a start or a push is done. */
const SETTLING_MS = 3000;

/** Reports of the controller, and of the proxies that run from the beginning. */
export interface ProcessReports {
  readonly controller: ProcessReport;
  readonly proxies: readonly ProcessReport[];
}

/** The start of a proxy that has never served anything. */
export interface FreshStart {
  /** From the start of the process until it is ready. */
  readonly readyMs: number;
  readonly report: ProcessReport;
}

/** Asks the controller and the proxies for their reports. */
export async function askAll({ gateway, probes }: Installation): Promise<ProcessReports> {
  return {
    controller: await probes.ask('controller'),
    proxies: await Promise.all(
      gateway.proxies.slice(0, 3).map((_, index) => probes.ask(proxyName(index))),
    ),
  };
}

/**
 * Stops the controller, changes a Route, and starts the controller again, which then sends the whole
 * snapshot to every proxy.
 */
export async function measureFullPush(
  installation: Installation,
): Promise<{ readonly tookMs: number; readonly reports: ProcessReports }> {
  const { gateway, probes, changes, names } = installation;
  const [controller] = gateway.controllers;
  const route = names.at(-1) ?? '';
  await controller?.terminate();
  const changing = changes.change(route);
  await wait(SETTLING_MS);
  for (const [index] of gateway.proxies.slice(0, 3).entries()) await probes.ask(proxyName(index));
  controller?.start();
  const startedAt = performance.now();
  const { shownAt } = await changing;
  const reports = await askAll(installation);
  return { tookMs: shownAt - startedAt, reports };
}

/** Starts a proxy without a cache, and stops it again. */
export async function measureFreshStart(
  { gateway, redis, probes }: Installation,
  { isKeptInRedis }: { readonly isKeptInRedis: boolean },
): Promise<FreshStart> {
  if (!isKeptInRedis) await redis.send('FLUSHALL');
  const name = proxyName(gateway.proxies.length);
  const proxy = await gateway.addProxy();
  await proxy.logged('started');
  await probes.ask(name);
  const readyAt = await untilReady(proxy);
  const report = await probes.ask(name);
  await proxy.terminate();
  return { readyMs: readyAt - report.startedAtMs, report };
}

/** Milliseconds since the epoch. */
async function untilReady(proxy: ProxyMember): Promise<number> {
  const deadline = performance.now() + READY_DEADLINE_MS;
  for (;;) {
    const { status } = await proxy.admin('/readyz');
    if (status === 200) return performance.timeOrigin + performance.now();
    if (performance.now() > deadline) throw new Error('a fresh proxy does not become ready');
    await wait(READY_POLL_MS);
  }
}
