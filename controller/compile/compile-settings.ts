import type { GatewaySettings } from '../../crds/types.ts';
import type {
  CompiledIdentityProvider,
  CompiledSettings,
  CompiledSigningKeys,
} from '../../shared/snapshot/snapshot.ts';
import type { Problem } from '../validate/problem.ts';
import { memberPath } from '../validate/field-path.ts';
import { parseAddress, type Address } from './address.ts';
import { isCidr } from './cidr.ts';
import { compileOrigins } from './compile-origins.ts';
import {
  bearerTokenFormatProblem,
  providerFacts,
} from './identity-providers/bearer-token-format.ts';
import { compileIdentityProviders } from './identity-providers/compile-identity-providers.ts';
import { compileLogs } from './compile-logs.ts';
import { compileSigningKeys } from './compile-signing-keys.ts';
import { compileTracing } from './compile-tracing.ts';
import { durationMs } from './duration.ts';
import { all, andThen, combine, made, invalid, type CompileResult } from './compile-result.ts';
import type { CertificateValidity } from './certificates/certificate-validity.ts';
import { resolveDefaultCertificate } from './certificates/default-certificate.ts';
import type { SettingsSources } from './referables.ts';
import { resourceName, type CompileOptions } from './resources.ts';
import { withPresentReferences } from './with-present-references.ts';
import { schemeProblem } from './secure-scheme.ts';
import { originOf } from '../../shared/snapshot/origin.ts';

/** Everything that GatewaySettings compile to. */
export interface SettingsOutput {
  readonly settings: CompiledSettings;
  readonly authenticateAddress: Address | undefined;
  readonly identityProviders: readonly CompiledIdentityProvider[];
  readonly signingKeys: CompiledSigningKeys | undefined;
  /** The default certificate, if there is one and it can be used. */
  readonly certificates: readonly CertificateValidity[];
  /** What is wrong with tracing and the default certificate, without which the settings serve. */
  readonly problems: readonly Problem[];
}

type Spec = GatewaySettings['spec'];

const DEFAULT_COOKIE_EXPIRATION = '14h';
const DEFAULT_EXTERNAL_TOKEN_LIFETIME = '15m';
const DEFAULT_REFRESH_TOKEN_LIFETIME = '720h';
const DEFAULT_REFRESH_TOKEN_GRACE = '60s';
const DEFAULT_UNUSED_CLIENT_LIFETIME = '720h';
const DEFAULT_OUTAGE_GRACE = '60s';
const DEFAULT_OPAQUE_TOKEN_LIFETIME = '1m';

/** Compiles the settings with their Secrets. A single problem makes all of them invalid. */
export function compileSettings(
  written: GatewaySettings,
  sources: SettingsSources,
  options: CompileOptions,
): CompileResult<SettingsOutput> {
  const { secrets } = sources;
  const settings = withPresentReferences(written, sources, options);
  const { spec } = settings;
  const { mcpAllowedAsMetadataDomains: asMetadataDomains = [] } = spec;
  const parts = combine({
    authenticateAddress: compileAuthenticateUrl(spec, options),
    identityProviders: andThen(compileIdentityProviders(settings, sources, options), (providers) =>
      withUsableFormat(spec, providers),
    ),
    signingKeys: compileSigningKeys(settings, secrets),
    limits: compileLimits(spec),
  });
  const { tracing, problems } = compileTracing(settings, secrets, options);
  const certificate = resolveDefaultCertificate(settings, sources.certificates);
  return andThen(parts, ({ authenticateAddress, identityProviders, signingKeys, limits }) =>
    made({
      settings: {
        kind: 'settings',
        gatewayId: resourceName(settings),
        ...(authenticateAddress && { authenticateOrigin: originOf(authenticateAddress) }),
        allowedClientIdDomains: spec.mcpAllowedClientIdDomains ?? [],
        ...(asMetadataDomains.length > 0 && { allowedAsMetadataDomains: asMetadataDomains }),
        ...compileLogs(spec),
        ...(spec.toolDenial !== undefined && { toolDenial: spec.toolDenial }),
        ...bearerTokensOf(spec),
        ...limits,
        ...(tracing && { tracing }),
        ...(certificate.name !== undefined && { defaultCertificate: certificate.name }),
      },
      authenticateAddress,
      identityProviders,
      signingKeys,
      certificates: certificate.certificates,
      problems: [...problems, ...certificate.problems],
    }),
  );
}

/** Routes that name neither a format nor a provider use the format with the provider of the settings. */
function withUsableFormat(
  { bearerTokenFormat: format = 'default', idpAccessTokenAllowedAudiences }: Spec,
  compiled: readonly CompiledIdentityProvider[],
): CompileResult<readonly CompiledIdentityProvider[]> {
  const providers = compiled.map(providerFacts);
  const provider = providers.find(({ signIn }) => signIn);
  const hasAllowedAudiences = idpAccessTokenAllowedAudiences !== undefined;
  const problem = bearerTokenFormatProblem({ format, provider, providers, hasAllowedAudiences });
  if (problem === undefined) return made(compiled);
  return invalid('spec.bearerTokenFormat', 'UnsupportedValue', problem);
}

function bearerTokensOf({
  bearerTokenFormat,
  idpAccessTokenAllowedAudiences,
}: Spec): Pick<CompiledSettings, 'bearerTokenFormat' | 'idpAccessTokenAllowedAudiences'> {
  return {
    ...(bearerTokenFormat !== undefined && { bearerTokenFormat }),
    ...(idpAccessTokenAllowedAudiences !== undefined && { idpAccessTokenAllowedAudiences }),
  };
}

type Limits = Pick<
  CompiledSettings,
  | 'allowedOrigins'
  | 'outboundAllowedCidrs'
  | 'trustedProxies'
  | 'cookie'
  | 'tokens'
  | 'unusedClientSeconds'
  | 'outageGraceSeconds'
  | 'opaqueTokenSeconds'
>;

/** Compiles the accepted addresses and origins, and the lifetimes. */
function compileLimits(spec: Spec): CompileResult<Limits> {
  return combine({
    allowedOrigins: compileOrigins(spec.mcpAllowedOrigins ?? [], 'spec.mcpAllowedOrigins'),
    outboundAllowedCidrs: compileCidrs(spec, 'outboundAllowedCidrs'),
    trustedProxies: compileCidrs(spec, 'trustedProxies'),
    cookie: compileCookie(spec),
    tokens: compileTokens(spec),
    unusedClientSeconds: compileSeconds(
      spec.mcpUnusedClientLifetime ?? DEFAULT_UNUSED_CLIENT_LIFETIME,
      'spec.mcpUnusedClientLifetime',
    ),
    outageGraceSeconds: compileSeconds(
      spec.outageGrace ?? DEFAULT_OUTAGE_GRACE,
      'spec.outageGrace',
    ),
    opaqueTokenSeconds: compileSeconds(
      spec.tokens?.opaqueTokenLifetime ?? DEFAULT_OPAQUE_TOKEN_LIFETIME,
      'spec.tokens.opaqueTokenLifetime',
    ),
  });
}

function compileAuthenticateUrl(
  { authenticateUrl }: Spec,
  { devAllowLoopback }: CompileOptions,
): CompileResult<Address | undefined> {
  if (authenticateUrl === undefined) return made(undefined);
  const path = 'spec.authenticateUrl';
  return andThen(parseAddress(authenticateUrl, path), (address) => {
    const problem = schemeProblem(address, devAllowLoopback);
    return problem === undefined ? made(address) : invalid(path, 'UnsupportedValue', problem);
  });
}

function compileCidrs(
  spec: Spec,
  field: 'outboundAllowedCidrs' | 'trustedProxies',
): CompileResult<readonly string[]> {
  const cidrs = spec[field] ?? [];
  return all(
    cidrs.map((cidr, index) => {
      if (isCidr(cidr)) return made(cidr);
      const path = memberPath(`spec.${field}`, index);
      return invalid(path, 'InvalidSpec', 'must be an address range such as 10.20.0.0/16');
    }),
  );
}

function compileCookie({ cookie }: Spec): CompileResult<CompiledSettings['cookie']> {
  const expiration = cookie?.expiration ?? DEFAULT_COOKIE_EXPIRATION;
  return andThen(compileSeconds(expiration, 'spec.cookie.expiration'), (expirationSeconds) =>
    made({ expirationSeconds, sameSite: cookie?.sameSite ?? 'Lax' }),
  );
}

function compileTokens({ tokens = {} }: Spec): CompileResult<CompiledSettings['tokens']> {
  const {
    externalTokenLifetime = DEFAULT_EXTERNAL_TOKEN_LIFETIME,
    refreshTokenLifetime = DEFAULT_REFRESH_TOKEN_LIFETIME,
    refreshTokenGrace = DEFAULT_REFRESH_TOKEN_GRACE,
  } = tokens;
  return combine({
    externalTokenSeconds: compileSeconds(
      externalTokenLifetime,
      'spec.tokens.externalTokenLifetime',
    ),
    refreshTokenSeconds: compileSeconds(refreshTokenLifetime, 'spec.tokens.refreshTokenLifetime'),
    refreshTokenGraceSeconds: compileSeconds(refreshTokenGrace, 'spec.tokens.refreshTokenGrace'),
  });
}

/** Cookies and tokens count in whole seconds (RFC 6265, RFC 6749). */
function compileSeconds(duration: string, path: string): CompileResult<number> {
  const seconds = durationMs(duration) / 1_000;
  if (Number.isInteger(seconds)) return made(seconds);
  return invalid(path, 'UnsupportedValue', 'must be whole seconds');
}
