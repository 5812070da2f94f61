import { startGatewayWithUsers } from '../gateway-with-users.ts';
import { emptyResult } from '../mcp-route.ts';
import { startUpstream } from '../upstream.ts';
import { abuseRoutes } from './abuse-routes.ts';
import { exchange } from './exchange.ts';

/** A gateway whose configuration makes look-ups as hard as routes can make them. */
export interface AbuseWorld extends AsyncDisposable {
  readonly port: number;
  /** Sends bytes on a connection of their own, and returns the status of the response. */
  exchange(bytes: string): Promise<number>;
}

/** Starts the gateway and its upstream. */
export async function startAbuseWorld(): Promise<AbuseWorld> {
  const upstream = await startUpstream((message, response) => {
    message.resume();
    emptyResult(message, response);
  });
  const world = await startGatewayWithUsers({ accessLog: true });
  const { port } = world.gateway;
  // The sender is a trusted proxy, so that what it says about clients is read.
  const settings = { trustedProxies: ['127.0.0.0/8'] };
  await world.configure(abuseRoutes(port, upstream.origin), settings);
  return {
    port,
    exchange: (bytes) => exchange(port, bytes),
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}
