import type { WantedPort } from './demo-flags.ts';
import { availablePort } from './loopback-server.ts';

/** What the gateway of the demo serves, each at a port of its own: browsers keep ports apart as they do hosts. */
export interface GatewayOrigins {
  /** The invoices. */
  readonly gateway: string;
  readonly application: string;
  readonly notes: string;
  /** Where users sign in, for all of them. */
  readonly signIn: string;
}

/** Returns origins at this port and the next ones, or at free ones. Throws `PortInUseError` if one is in use. */
export async function gatewayOrigins(first: WantedPort): Promise<GatewayOrigins> {
  const ports: number[] = [];
  const next = async (): Promise<string> => {
    const wanted = first.port === 0 ? 0 : first.port + ports.length;
    const port = await availablePort({ ...first, port: wanted });
    // Free ports may repeat: nobody listens on the one that was found before.
    if (ports.includes(port)) return next();
    ports.push(port);
    return `http://localhost:${String(port)}`;
  };
  return {
    gateway: await next(),
    application: await next(),
    notes: await next(),
    signIn: await next(),
  };
}
