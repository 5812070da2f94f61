import { DNS_LABEL, DNS_SUBDOMAIN } from '../patterns-in-words.ts';

const STRINGS = { type: 'object', additionalProperties: { type: 'string' } } as const;

/** Schema of the `metadata` of a manifest. Fields that only an API server writes may have any value. */
export const METADATA_SCHEMA = {
  type: 'object',
  required: ['name'],
  additionalProperties: false,
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 253, pattern: DNS_SUBDOMAIN },
    namespace: { type: 'string', minLength: 1, maxLength: 63, pattern: DNS_LABEL },
    labels: STRINGS,
    annotations: STRINGS,
    uid: { type: 'string' },
    generation: { type: 'integer' },
    creationTimestamp: { type: ['string', 'null'] },
    resourceVersion: {},
    selfLink: {},
    generateName: {},
    deletionTimestamp: {},
    deletionGracePeriodSeconds: {},
    ownerReferences: {},
    finalizers: {},
    managedFields: {},
  },
} as const;
