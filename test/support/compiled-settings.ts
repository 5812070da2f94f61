import type { CompiledSettings } from '../../shared/snapshot/snapshot.ts';

/** Compiled settings with the defaults of GatewaySettings, and `changes`. */
export function compiledSettings(changes: Partial<CompiledSettings> = {}): CompiledSettings {
  return {
    kind: 'settings',
    gatewayId: 'gatehouse/default',
    allowedClientIdDomains: [],
    allowedOrigins: [],
    outboundAllowedCidrs: [],
    trustedProxies: [],
    unusedClientSeconds: 30 * 86_400,
    outageGraceSeconds: 60,
    opaqueTokenSeconds: 60,
    authorizeLogFields: [],
    cookie: { expirationSeconds: 14 * 3600, sameSite: 'Lax' },
    tokens: {
      externalTokenSeconds: 900,
      refreshTokenSeconds: 30 * 86_400,
      refreshTokenGraceSeconds: 60,
    },
    ...changes,
  };
}
