import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

import { errorCode } from '../../shared/runtime/error-code.ts';
import { randomNumbers } from './random-numbers.ts';

/** A server behind a balancer. */
interface BalancerTarget {
  readonly host: string;
  readonly port: number;
}

/**
 * A reverse proxy that chooses a target for each request, whatever connection it came on, and tries
 * the next target if nothing listens.
 */
export interface Balancer extends AsyncDisposable {
  readonly port: number;
  /** Number of requests that each target received, by its index. */
  readonly taken: readonly number[];
  /** Number of those that ended without a whole response, which also broke the client's connection. */
  readonly lost: number;
  /** Sends every request to this target from now on. */
  only(target: number): void;
  /** Sends requests to the targets in turn from now on. */
  alternate(): void;
  /** Sends every request to a random target, as at the start. */
  spread(): void;
}

export interface BalancerOptions {
  /** Port to listen on, on 127.0.0.1. */
  readonly port: number;
  /** Address of this machine that requests to targets come from. */
  readonly address: string;
  readonly targets: readonly BalancerTarget[];
  /** Seed of the random choice. */
  readonly seed: number;
}

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly body: Buffer;
  readonly response: ServerResponse;
}

/** Starts a balancer, which appends the address of the client to `X-Forwarded-For`. */
export async function startBalancer(options: BalancerOptions): Promise<Balancer> {
  const { port, address, targets, seed } = options;
  const random = randomNumbers(seed);
  const anywhere = (): number => Math.floor(random() * targets.length);
  const taken = targets.map(() => 0);
  let lost = 0;
  let choose = anywhere;

  const serve = async (exchange: Exchange): Promise<void> => {
    const first = choose();
    for (const offset of targets.keys()) {
      const index = (first + offset) % targets.length;
      const target = targets[index];
      const answer = target && (await ask(target, address, exchange));
      if (answer === undefined || answer === 'refused') continue;
      taken[index] = (taken[index] ?? 0) + 1;
      if (answer !== 'broken' && (await passOn(answer, exchange.response))) return;
      if (!exchange.response.destroyed) lost += 1;
      exchange.response.destroy();
      return;
    }
    exchange.response.writeHead(502).end();
  };
  const server = createServer((incoming, response) => {
    buffer(incoming)
      .then((body) => serve({ incoming, body, response }))
      // The client may leave before its request is complete.
      .catch(() => response.destroy());
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    // A TCP server has an address of this type.
    port: (server.address() as AddressInfo).port,
    taken,
    get lost() {
      return lost;
    },
    only: (target) => {
      choose = () => target;
    },
    alternate: () => {
      let last = 0;
      choose = () => (last = (last + 1) % targets.length);
    },
    spread: () => {
      choose = anywhere;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** Returns `refused` if nothing listens and nothing was sent. */
async function ask(
  target: BalancerTarget,
  localAddress: string,
  { incoming, body, response }: Exchange,
): Promise<IncomingMessage | 'refused' | 'broken'> {
  const headers = { ...incoming.headers };
  delete headers['transfer-encoding'];
  const forwardedFor = [headers['x-forwarded-for'] ?? [], incoming.socket.remoteAddress ?? ''];
  const outgoing = httpRequest({
    ...target,
    localAddress,
    method: incoming.method,
    path: incoming.url,
    headers: {
      ...headers,
      'x-forwarded-for': forwardedFor.flat().join(', '),
      connection: 'close',
      ...(body.length > 0 ? { 'content-length': body.length } : {}),
    },
    agent: false,
  });
  response.once('close', () => outgoing.destroy());
  outgoing.end(body);
  try {
    // Node emits `response` with the message as its only argument.
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    return answer;
  } catch (error) {
    return errorCode(error) === 'ECONNREFUSED' ? 'refused' : 'broken';
  }
}

/** Returns false if the response broke off, unless the client left. */
async function passOn(answer: IncomingMessage, response: ServerResponse): Promise<boolean> {
  const headers = { ...answer.headers };
  delete headers.connection;
  response.writeHead(answer.statusCode ?? 502, headers);
  response.flushHeaders();
  // An error is followed by `close`, which reports it.
  answer.on('error', () => undefined);
  answer.pipe(response);
  await new Promise((resolve) => answer.once('close', resolve));
  return answer.complete || response.destroyed;
}
