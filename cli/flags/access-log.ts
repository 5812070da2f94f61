import type { Flag } from '../arguments.ts';

/** `--access-log`, the same for every process that serves requests. */
export const ACCESS_LOG: Flag = {
  kind: 'switch',
  environment: 'GATEHOUSE_ACCESS_LOG',
  description: 'Write a log line for every request.',
};
