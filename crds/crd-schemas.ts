import type { CrdSchema, ResourceKind } from './crd-schema.ts';
import schemas from './schemas.json' with { type: 'json' };

/** The schemas of the definitions, as generated: reading the definitions takes longer than to start. */
// TypeScript does not infer the strings of a JSON file.
export const CRD_SCHEMAS = schemas as Readonly<Record<ResourceKind, CrdSchema>>;
