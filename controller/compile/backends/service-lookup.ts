import type { ServiceDirectory } from './service-directory.ts';

/** What references of routes are checked against. */
export type ServiceLookup = Pick<ServiceDirectory, 'has' | 'hasPort' | 'isOversized' | 'permits'>;

/** Accepts every reference, where there is no cluster to look at. */
export const ASSUMED_SERVICES: ServiceLookup = {
  has: () => true,
  hasPort: () => true,
  isOversized: () => false,
  permits: () => true,
};
