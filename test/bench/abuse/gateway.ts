/** A gateway that is measured; its argument is the upstream. */
import { makeSealingKeys } from '../../../cli/process/sealing-keys.ts';
import { deriveAssertionKeys } from '../../../proxy/crypto/assertion-keys.ts';
import { Gateway } from '../../../proxy/gateway.ts';
import { createMemoryStores } from '../../../proxy/store/memory/memory-stores.ts';
import { LineWriter } from '../../../shared/telemetry/line-writer.ts';
import { createLogger } from '../../../shared/telemetry/logger.ts';
import { abuseRoutes } from '../../support/abuse/abuse-routes.ts';
import { compileOnce } from '../../support/compile-once.ts';
import { aRoute, aSettings } from '../../support/resources.ts';
import { discard, reportReady } from '../support/subject-process.ts';

const [, , upstream = ''] = process.argv;
const sealingKeys = makeSealingKeys();
const lines = new LineWriter(discard);
const gateway = new Gateway({
  devAllowLoopback: true,
  sealingKeys,
  defaultSigningKeys: deriveAssertionKeys(sealingKeys),
  stores: createMemoryStores(),
  logger: createLogger('bench', lines),
  lines,
});
const [address] = await gateway.listen([{ host: '127.0.0.1', port: 0 }]);
if (address === undefined) throw new Error('not listening');
const routes = Object.entries(abuseRoutes(address.port, upstream)).map(([name, spec]) =>
  aRoute(spec, { name }),
);
const { snapshot, problems } = compileOnce(
  { routes, settings: aSettings() },
  { devAllowLoopback: true },
);
if (problems.length > 0) throw new Error(JSON.stringify(problems));
await gateway.apply(snapshot);
reportReady({ port: address.port, tokens: [] });
