import { isRecord } from '../../../shared/runtime/is-record.ts';
import {
  AUTHORITIES_FILE_KEY,
  CLIENT_SECRET_KEYS,
  IDENTITY_PROVIDER_KEYS,
  SETTINGS_KEYS,
} from './plain-keys.ts';
import { readSecret, type SecretSource } from './read-secret.ts';
import { TRACING_PAIR_KEYS, translateTracingPairs } from './translate-tracing-pairs.ts';
import { translateAuthorities, translateCertificate } from './translate-certificate.ts';
import { translateKeys, type Mapping } from './translate-keys.ts';
import { SECRET_NAME, translateClientSecret, type TranslatedSecrets } from './translate-secret.ts';

const SIGNING_KEY = 'signing-key';
const CERTIFICATE = 'default_certificate';
const CERTIFICATE_PLACE = {
  written: CERTIFICATE,
  field: 'spec.defaultCertificateRef',
  name: `${SECRET_NAME}-default-tls`,
};
const OTHER_KEYS = ['routes', 'identity_providers', 'signing_key_file', CERTIFICATE];

type Part = Pick<TranslatedSecrets, 'origins' | 'problems' | 'manifests'>;

/** Translates the settings of a plain form to the spec of GatewaySettings. */
export function translateSettings(plain: Mapping, source: SecretSource): TranslatedSecrets {
  const place = { field: 'spec', written: '' };
  const elsewhere = [...OTHER_KEYS, ...TRACING_PAIR_KEYS];
  const { fields, origins, problems } = translateKeys(plain, SETTINGS_KEYS, place, elsewhere);
  const providers = translateIdentityProviders(plain['identity_providers'], source);
  const signingKey = translateSigningKey(plain, source);
  const pairs = translateTracingPairs(plain, source);
  const certificate = translateCertificate(plain[CERTIFICATE], CERTIFICATE_PLACE, source);
  const parts: readonly Part[] = [providers, signingKey, pairs, certificate];
  const tracing = { ...(fields['tracing'] as Mapping | undefined), ...pairs.spec };
  return {
    spec: {
      ...fields,
      ...(Object.keys(tracing).length > 0 && { tracing }),
      ...providers.spec,
      ...signingKey.spec,
      ...(certificate.ref && { defaultCertificateRef: certificate.ref }),
    },
    secrets: { ...providers.secrets, ...signingKey.secrets, ...pairs.secrets },
    origins: [...origins, ...parts.flatMap((part) => part.origins)],
    problems: [...problems, ...parts.flatMap((part) => part.problems)],
    manifests: parts.flatMap((part) => part.manifests ?? []),
  };
}

function translateIdentityProviders(written: unknown, source: SecretSource): TranslatedSecrets {
  const path = 'identity_providers';
  const origins = [{ field: 'spec.identityProviders', written: path }];
  if (written === undefined) return { spec: {}, secrets: {}, origins, problems: [] };
  if (!isRecord(written)) {
    const problem = { path, message: 'must be a mapping from names to providers' };
    return { spec: {}, secrets: {}, origins, problems: [problem] };
  }
  const providers = Object.entries(written).map(([name, provider], index) =>
    translateIdentityProvider(name, index, { provider, source }),
  );
  return {
    spec: { identityProviders: providers.map(({ spec }) => spec) },
    secrets: Object.fromEntries(providers.flatMap(({ secrets }) => Object.entries(secrets))),
    origins: [...origins, ...providers.flatMap((provider) => provider.origins)],
    problems: providers.flatMap(({ problems }) => problems),
    manifests: providers.flatMap(({ manifests = [] }) => manifests),
  };
}

function translateIdentityProvider(
  name: string,
  index: number,
  { provider, source }: { readonly provider: unknown; readonly source: SecretSource },
): TranslatedSecrets {
  const field = `spec.identityProviders[${String(index)}]`;
  const written = `identity_providers.${name}`;
  if (!isRecord(provider)) {
    const problem = { path: written, message: 'must be a mapping' };
    return { spec: { name }, secrets: {}, origins: [{ field, written }], problems: [problem] };
  }
  const secretKeys = [...Object.values(CLIENT_SECRET_KEYS), AUTHORITIES_FILE_KEY];
  const place = { field, written };
  const translation = translateKeys(provider, IDENTITY_PROVIDER_KEYS, place, secretKeys);
  const key = `identity-provider-${String(index)}`;
  const secret = translateClientSecret(readSecret(provider, CLIENT_SECRET_KEYS, written, source), {
    key,
    field,
  });
  const caPlace = { field: `${field}.caRef`, written, name: `${SECRET_NAME}-${key}` };
  const ca = translateAuthorities(provider, caPlace, source);
  const own = [...translation.origins, { field: `${field}.name`, written }];
  return {
    spec: { name, ...translation.fields, ...secret.spec, ...(ca.ref && { caRef: ca.ref }) },
    secrets: secret.secrets,
    origins: [...own, ...secret.origins, ...ca.origins],
    problems: [...translation.problems, ...secret.problems],
    manifests: ca.manifests,
  };
}

function translateSigningKey(plain: Mapping, source: SecretSource): TranslatedSecrets {
  const path = 'signing_key_file';
  const secret = readSecret(plain, { file: path }, '', source);
  const isSecret = secret.kind === 'secret';
  return {
    spec: isSecret ? { signingKeyRefs: [{ name: SECRET_NAME, key: SIGNING_KEY }] } : {},
    secrets: isSecret ? { [SIGNING_KEY]: secret.value } : {},
    origins: [{ field: 'spec.signingKeyRefs', written: path }],
    problems: secret.kind === 'problem' ? [secret.problem] : [],
  };
}
