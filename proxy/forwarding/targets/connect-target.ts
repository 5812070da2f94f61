import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';

import { UpstreamUnreachableError } from '../../errors/request-errors.ts';
import { asError } from '../as-error.ts';
import type { TargetVisit } from './target-visit.ts';
import { upstreamFailure } from '../upstream-failure.ts';
import { CONNECT_TIMEOUT_MS } from './upstream-pools.ts';

/**
 * Connects to the endpoint of a visit, or to the one it moves on to, before anything is sent. Rejects
 * with `UpstreamUnreachableError`.
 */
export function connectEndpoint(visit: TargetVisit): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const attempt = (): void => {
      connectTo(visit.origin).then(resolve, (error: unknown) => {
        if (!visit.moveOn(attempt)) reject(upstreamFailure(asError(error)));
      });
    };
    attempt();
  });
}

/** An agent for one request, on a connection that is there already. */
export function agentOn(socket: Socket): Agent {
  const agent = new Agent();
  agent.createConnection = () => socket;
  return agent;
}

function connectTo(origin: string): Promise<Socket> {
  const { hostname, port } = new URL(origin);
  const socket = connect({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? DEFAULT_PORT : Number(port),
    noDelay: true,
  });
  const timer = setTimeout(() => {
    socket.destroy(new UpstreamUnreachableError('connecting timed out'));
  }, CONNECT_TIMEOUT_MS);
  return new Promise((resolve, reject) => {
    socket.once('connect', () => {
      clearTimeout(timer);
      resolve(socket);
    });
    // For good: whoever takes the socket may be late for its error.
    socket.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
  });
}

const DEFAULT_PORT = 80;
