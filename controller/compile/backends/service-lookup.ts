import type { ServiceDirectory } from './service-directory.ts';

/** The part of the directory that references of routes are checked against. */
export type ServiceLookup = Pick<ServiceDirectory, 'has' | 'hasPort' | 'isOversized' | 'permits'>;

/** Accepts every reference, for checks without a cluster. */
export const ASSUMED_SERVICES: ServiceLookup = {
  has: () => true,
  hasPort: () => true,
  isOversized: () => false,
  permits: () => true,
};
