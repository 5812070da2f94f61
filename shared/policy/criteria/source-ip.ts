import type { CriterionDefinition, Report } from '../language/criterion-definition.ts';
import { NetworkList, parseIpAddress, parseNetwork } from '../operands/network.ts';
import { rememberLast } from '../operands/remember-last.ts';

/** All criteria of a policy read the same address. Attack: a policy may have a thousand of them. */
const addressOf = rememberLast(parseIpAddress);

/** The address of the client, as `trustedProxies` decide it. */
export const sourceIp: CriterionDefinition<'source_ip', 'networks'> = {
  name: 'source_ip',
  form: 'networks',
  readOperand,
  writeOperand: ({ networks }) => networks,
  build: ({ networks }) => {
    const ranges = networks.map((text) => {
      const network = parseNetwork(text);
      if (network === undefined) throw new Error(`a policy has an unknown network "${text}"`);
      return network;
    });
    if (ranges.length === 0) throw new Error('a policy has a source_ip without networks');
    const list = new NetworkList(ranges);
    return {
      test: ({ clientAddress }) => {
        const address = addressOf(clientAddress);
        return address && list.has(address);
      },
      valueOf: ({ clientAddress }) => clientAddress,
    };
  },
  reasons: { whenTrue: 'source-ip-ok', whenFalse: 'source-ip-unauthorized' },
  row: {
    looksAt: "the [client's address](#addresses)",
    compares: 'an address or a network, or a list of them',
  },
};

/** Reads a text, or a list of texts. */
function readOperand(
  value: unknown,
  report: Report,
): { readonly networks: readonly string[] } | null {
  if (!Array.isArray(value)) {
    const network = readNetwork(value, report, []);
    return network === null ? null : { networks: [network] };
  }
  if (value.length === 0) return report('must not be empty');
  const items: readonly unknown[] = value;
  const networks = items.map((item, index) => readNetwork(item, report, [index]));
  const known = networks.filter((network) => network !== null);
  return known.length === networks.length ? { networks: known } : null;
}

function readNetwork(value: unknown, report: Report, place: readonly number[]): string | null {
  if (typeof value === 'string' && parseNetwork(value) !== undefined) return value;
  return report(
    'must be an address or a network, such as 192.0.2.7, 10.0.0.0/8 or fd00::/8',
    place,
  );
}
