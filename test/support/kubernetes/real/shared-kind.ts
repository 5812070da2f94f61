import type { PresentKind } from '../cluster-kind.ts';
import { SharedServer, type SharedServerOptions } from './shared-server.ts';

/** A kind of API server that starts when it is first needed, once for the tests of a file. */
export function sharedKind(options: SharedServerOptions): PresentKind {
  let server: Promise<SharedServer> | undefined;
  const start = async (): Promise<SharedServer> => await (server ??= SharedServer.start(options));
  return {
    kind: options.kind,
    capabilities: options.capabilities,
    start: async () => {
      await start();
    },
    open: async () => (await start()).open(),
    close: async () => await (await server)?.[Symbol.asyncDispose](),
  };
}
