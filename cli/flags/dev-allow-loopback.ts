import type { Flag } from '../arguments.ts';

/** `--dev-allow-loopback`, the same wherever a configuration is compiled. */
export const DEV_ALLOW_LOOPBACK: Flag = {
  kind: 'switch',
  environment: 'GATEHOUSE_DEV_ALLOW_LOOPBACK',
  description:
    'Accept plain http on loopback for sign-in and for routes that need it. For development only.',
};
