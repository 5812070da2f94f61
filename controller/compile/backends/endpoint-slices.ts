import type { EndpointSlice } from '../../kubernetes/objects.ts';
import { compareText } from '../../../shared/runtime/compare-text.ts';
import { setInGroup, setOrDelete } from '../grouped-map.ts';
import { MAX_TARGETS_PER_SERVICE } from './target-limits.ts';

/** A ready address of a Service, spelled as in a URL. */
export interface ServiceAddress {
  readonly host: string;
  readonly slice: EndpointSlice;
}

/** Once this many addresses of a Service are read, its remaining slices are skipped. */
const MAX_ADDRESSES_PER_SERVICE = 2 * MAX_TARGETS_PER_SERVICE;
const SERVICE_LABEL = 'kubernetes.io/service-name';

/** The EndpointSlices of a cluster, by Service. */
export class EndpointSlices {
  readonly #slices = new Map<string, EndpointSlice>();
  readonly #ofService = new Map<string, Map<string, EndpointSlice>>();
  /** Cached addresses by Service, valid until one of its slices changes. */
  readonly #addresses = new Map<string, readonly ServiceAddress[]>();

  /** Undefined removes a slice. Returns the Services that it belonged to before and belongs to now. */
  set(key: string, slice: EndpointSlice | undefined): readonly string[] {
    const before = serviceOf(key, this.#slices.get(key));
    const now = serviceOf(key, slice);
    setOrDelete(this.#slices, key, slice);
    if (before !== undefined) setInGroup(this.#ofService, before, [key, undefined]);
    if (now !== undefined) setInGroup(this.#ofService, now, [key, slice]);
    const services = [before, now].filter((service) => service !== undefined);
    for (const service of services) this.#addresses.delete(service);
    return services;
  }

  /** Ready addresses of a Service, up to a limit, in an order that is the same in all controllers. */
  addressesOf(service: string): readonly ServiceAddress[] {
    const known = this.#addresses.get(service);
    if (known !== undefined) return known;
    const slices = [...(this.#ofService.get(service) ?? [])];
    const addresses: ServiceAddress[] = [];
    for (const [, slice] of slices.sort(([a], [b]) => compareText(a, b))) {
      if (addresses.length >= MAX_ADDRESSES_PER_SERVICE) break;
      addresses.push(...readyAddresses(slice));
    }
    addresses.sort((a, b) => compareText(a.host, b.host));
    this.#addresses.set(service, addresses);
    return addresses;
  }
}

function serviceOf(key: string, slice: EndpointSlice | undefined): string | undefined {
  const name = slice?.metadata.labels?.[SERVICE_LABEL];
  const [namespace = ''] = key.split('/');
  return name === undefined ? undefined : `${namespace}/${name}`;
}

function readyAddresses(slice: EndpointSlice): readonly ServiceAddress[] {
  const { addressType, endpoints } = slice;
  // Slices with host names (addressType FQDN) do not belong to Services.
  if (addressType !== 'IPv4' && addressType !== 'IPv6') return [];
  const ready = endpoints?.filter(({ conditions }) => conditions?.ready !== false) ?? [];
  // All addresses of one entry lead to the same pod: the first is enough.
  return ready.flatMap(({ addresses: [address] }) => {
    if (address === undefined) return [];
    return [{ host: addressType === 'IPv6' ? `[${address}]` : address, slice }];
  });
}
