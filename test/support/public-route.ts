import type { CompiledRoute } from '../../shared/snapshot/snapshot.ts';
import { aCompiledRoute, aSnapshot } from './compiled-resources.ts';
import { compiledSettings } from './compiled-settings.ts';
import type { TestGateway } from './gateway.ts';

/** A public route for all paths on a port of this machine. */
export function publicRouteTo(
  upstream: string,
  { port }: { readonly port: number },
): CompiledRoute {
  return aCompiledRoute({
    scheme: 'http',
    host: 'localhost',
    port,
    upstream,
    allowWebsockets: true,
  });
}

/** Serves one public route from now on. */
export function servePublicRoute(gateway: TestGateway, upstream: string): Promise<void> {
  return gateway.gateway.apply(aSnapshot(compiledSettings(), publicRouteTo(upstream, gateway)));
}
