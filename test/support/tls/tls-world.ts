import { compiledSettings } from '../compiled-settings.ts';
import { aCompiledCertificate, aCompiledRoute, aSnapshot } from '../compiled-resources.ts';
import { scrape } from '../metrics/scrape.ts';
import { startGateway, type TestGateway } from '../gateway.ts';
import { createThrowawayAuthority, type ThrowawayAuthority } from '../throwaway-authority.ts';
import { TemporaryDirectory } from '../temporary-directory.ts';
import { startUpstream, type Upstream } from '../upstream.ts';
import type {
  CompiledCertificate,
  CompiledResource,
  CompiledRoute,
  CompiledSettings,
} from '../../../shared/snapshot/snapshot.ts';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A gateway with a listener for TLS beside its plain one. */
export interface TlsWorld extends AsyncDisposable {
  readonly gateway: TestGateway;
  readonly upstream: Upstream;
  readonly port: number;
  readonly tlsPort: number;
  readonly authority: ThrowawayAuthority;
  /** File with the certificate of the authority. */
  readonly caFile: string;
  certificate(name: string, hosts: readonly string[]): CompiledCertificate;
  /** A public route of all paths of a host. */
  route(host: string, certificates?: readonly string[], scheme?: 'http' | 'https'): CompiledRoute;
  apply(
    resources: readonly CompiledResource[],
    settings?: Partial<CompiledSettings>,
  ): Promise<void>;
  /** Number of handshakes with this outcome. */
  handshakes(outcome: string): Promise<number>;
}

/** Starts a gateway that listens for TLS, with a certificate that no client asks for. */
export async function startTlsWorld(host = '127.0.0.1'): Promise<TlsWorld> {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await TemporaryDirectory.create());
  const authority = createThrowawayAuthority();
  const caFile = join(directory.path, 'ca.pem');
  await writeFile(caFile, authority.ca);
  const upstream = stack.use(
    await startUpstream((message, response) => {
      message.pipe(response.writeHead(200, { 'content-type': 'text/plain' }));
      if (message.method === 'GET') response.end(`upstream ${message.headers.host ?? ''}`);
    }),
  );
  const gateway = stack.use(await startGateway());
  const world = { gateway, upstream, port: gateway.port, authority, caFile };
  const certificate = (name: string, hosts: readonly string[]): CompiledCertificate =>
    aCompiledCertificate(name, hosts, authority);
  const unused = certificate('test/unused', ['unused.example.net']);
  const apply: TlsWorld['apply'] = (resources, settings) =>
    gateway.gateway.apply(aSnapshot(compiledSettings(settings), unused, ...resources));
  await apply([]);
  const [, secure] = await gateway.gateway.listen([
    { host: '127.0.0.1', port: 0 },
    { host, port: 0, isTls: true },
  ]);
  if (secure === undefined) throw new Error('not listening');
  const opened = stack.move();
  return {
    ...world,
    tlsPort: secure.port,
    certificate,
    route: (host, certificates, scheme = 'https') =>
      aCompiledRoute({
        ...{ name: `test/${scheme}-${host}`, host, scheme, port: scheme === 'https' ? 443 : 80 },
        upstream: upstream.origin,
        ...(certificates !== undefined && { certificates }),
      }),
    apply,
    async handshakes(outcome) {
      const { value } = await scrape(gateway.metrics);
      return value('gatehouse_tls_handshakes_total', { outcome });
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
