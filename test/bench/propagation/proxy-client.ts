import { setTimeout as wait } from 'node:timers/promises';

import { Client } from 'undici';

import { hostOf } from '../../support/kubernetes/gateway-manifests.ts';
import type { ProxyMember } from '../../support/kubernetes/proxy-member.ts';

/** Pause between two requests, so that this process leaves the cores to the measured ones. */
const PAUSE_MS = 1;
const DEADLINE_MS = 60_000;

/** Answers of a proxy while a Route changed. */
export interface Shown {
  /** Time of the first answer that shows the change. */
  readonly at: number;
  /** Answers that are neither the one before the change nor the one after it. */
  readonly strange: readonly string[];
}

/** Sends requests to one proxy over one connection, one after another. */
export class ProxyClient implements AsyncDisposable {
  readonly #client: Client;

  private constructor(address: string) {
    this.#client = new Client(`http://${address}`);
  }

  static async connect(proxy: ProxyMember): Promise<ProxyClient> {
    const { addresses } = await proxy.logged('listening');
    return new ProxyClient(Array.isArray(addresses) ? String(addresses[0]) : '');
  }

  /** Sends requests to a Route until it answers `after`. Any answer but that and `before` is strange. */
  async untilShown(route: string, before: string, after: string): Promise<Shown> {
    const strange: string[] = [];
    const deadline = performance.now() + DEADLINE_MS;
    for (;;) {
      const answer = await this.answer(route);
      const at = performance.now();
      if (answer === after) return { at, strange };
      if (answer !== before) strange.push(answer);
      if (at > deadline) throw new Error(`${route} still answers ${answer}, not ${after}`);
      await wait(PAUSE_MS);
    }
  }

  /** Returns the body of a success, or the status with the body of anything else. */
  async answer(route: string): Promise<string> {
    const { statusCode, body } = await this.#client.request({
      method: 'GET',
      path: '/mcp',
      headers: { host: hostOf(route) },
    });
    const text = await body.text();
    return statusCode === 200 ? text : `${String(statusCode)} ${text}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.destroy();
  }
}
