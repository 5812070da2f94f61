import type { ServiceDirectory } from './service-directory.ts';

/** What is asked of the Services that routes refer to. */
export type ServiceLookup = Pick<ServiceDirectory, 'has' | 'hasPort' | 'isOversized' | 'permits'>;

/** For Services that nobody can look at: every reference to one is good. */
export const UNSEEN_SERVICES: ServiceLookup = {
  has: () => true,
  hasPort: () => true,
  isOversized: () => false,
  permits: () => true,
};
