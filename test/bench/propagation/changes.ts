import { setTimeout as wait } from 'node:timers/promises';

import type { AdminClient } from '../../support/kubernetes/cluster.ts';
import type { NamedUpstream } from './named-upstream.ts';
import { percentile } from '../support/percentile.ts';
import type { ProxyClient } from './proxy-client.ts';
import { changeRoute } from './routes.ts';

/** Longest random pause before a change, so that changes are not in step with the controller's timers. */
const LONGEST_PAUSE_MS = 50;
const CHURN_MS = 100;

/** Durations and strange answers of changes. Times in milliseconds. */
export interface ChangeTimes {
  /** From the request to the API server until all proxies serve the change. */
  readonly fromRequest: readonly number[];
  /** From the API server's response until then; negative if the proxies were faster. */
  readonly fromAnswer: readonly number[];
  /** Answers of neither the old nor the new upstream. */
  readonly strange: readonly string[];
}

/** Changes Routes between two upstreams, and measures how long it takes until all proxies serve that. */
export class RouteChanges {
  readonly #admin: AdminClient;
  readonly #proxies: readonly ProxyClient[];
  readonly #upstreams: readonly [NamedUpstream, NamedUpstream];
  /** Routes that lead to the second upstream; all others lead to the first. */
  readonly #moved = new Set<string>();

  constructor(
    admin: AdminClient,
    proxies: readonly ProxyClient[],
    upstreams: readonly [NamedUpstream, NamedUpstream],
  ) {
    this.#admin = admin;
    this.#proxies = proxies;
    this.#upstreams = upstreams;
  }

  /** Measures changes one after another. */
  async measure(routes: readonly string[], count: number): Promise<ChangeTimes> {
    const times: { [Name in keyof ChangeTimes]: ChangeTimes[Name][number][] } = {
      fromRequest: [],
      fromAnswer: [],
      strange: [],
    };
    for (let index = 0; index < count; index += 1) {
      await wait(Math.random() * LONGEST_PAUSE_MS);
      const { sentAt, answeredAt, shownAt, strange } = await this.change(
        routes[index % routes.length] ?? '',
      );
      times.fromRequest.push(shownAt - sentAt);
      times.fromAnswer.push(shownAt - answeredAt);
      times.strange.push(...strange);
    }
    return times;
  }

  /** Measures changes while another Route changes ten times a second. */
  async measureUnderChurn(
    churned: string,
    routes: readonly string[],
    count: number,
  ): Promise<ChangeTimes> {
    let isOver = false;
    const churn = async (): Promise<void> => {
      for (let turn = 0; !isOver; turn += 1) {
        const { origin } = this.#upstreams[turn % 2 === 0 ? 1 : 0];
        await Promise.all([changeRoute(this.#admin, churned, origin), wait(CHURN_MS)]);
      }
    };
    const churning = churn();
    try {
      return await this.measure(routes, count);
    } finally {
      isOver = true;
      await churning;
    }
  }

  /** Sends a Route to the other upstream. */
  async change(route: string): Promise<{
    readonly sentAt: number;
    readonly answeredAt: number;
    readonly shownAt: number;
    readonly strange: readonly string[];
  }> {
    const [first, second] = this.#upstreams;
    const [before, after] = this.#moved.has(route) ? [second, first] : [first, second];
    if (after === second) this.#moved.add(route);
    else this.#moved.delete(route);
    const sentAt = performance.now();
    const [answeredAt, ...shown] = await Promise.all([
      changeRoute(this.#admin, route, after.origin).then(() => performance.now()),
      ...this.#proxies.map((proxy) => proxy.untilShown(route, before.name, after.name)),
    ]);
    const later = await Promise.all(this.#proxies.map((proxy) => proxy.answer(route)));
    const strange = [
      ...shown.flatMap((each) => each.strange),
      ...later.filter((answer) => answer !== after.name),
    ];
    return { sentAt, answeredAt, shownAt: Math.max(...shown.map(({ at }) => at)), strange };
  }
}

/** Median and 99th percentile. */
export function describeTimes({ fromRequest, fromAnswer }: ChangeTimes): string {
  const both = (times: readonly number[]): string =>
    [0.5, 0.99].map((part) => percentile(times, part).toFixed(0).padStart(4)).join(' /');
  return `${both(fromRequest)} ms (from the answer ${both(fromAnswer)} ms)`;
}
