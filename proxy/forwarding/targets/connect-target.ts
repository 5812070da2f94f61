import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';

import type { Span } from '../../../shared/telemetry/tracing/trace.ts';
import { UpstreamUnreachableError } from '../../errors/upstream-errors.ts';
import { CONNECT_TIMEOUT_MS } from '../../upstream-client/upstream-connection.ts';
import { asError } from '../../errors/as-error.ts';
import { originAddress } from '../origin-address.ts';
import type { TargetVisit } from './target-visit.ts';
import { upstreamFailure } from '../upstream-failure.ts';

/**
 * Connects to the target of a visit, before anything is sent; or to the target that the visit moves on
 * to, which is an event of the span. Rejects with `UpstreamUnreachableError`.
 */
export async function connectTarget(visit: TargetVisit, span: Span | undefined): Promise<Socket> {
  for (;;) {
    try {
      return await connectTo(visit.origin);
    } catch (error) {
      if (!visit.moveOn()) throw upstreamFailure(asError(error));
      span?.event('sent to another target', { 'error.type': 'no-connection' });
    }
  }
}

/** Returns an agent for one request on an open connection. */
export function agentOn(socket: Socket): Agent {
  const agent = new Agent();
  agent.createConnection = () => socket;
  return agent;
}

function connectTo(origin: string): Promise<Socket> {
  const { host, port } = originAddress(origin);
  const socket = connect({ host, port, noDelay: true });
  const timer = setTimeout(() => {
    socket.destroy(new UpstreamUnreachableError('connecting timed out'));
  }, CONNECT_TIMEOUT_MS);
  return new Promise((resolve, reject) => {
    socket.once('connect', () => {
      clearTimeout(timer);
      resolve(socket);
    });
    // Never removed: the socket may fail before its user listens.
    socket.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
  });
}
