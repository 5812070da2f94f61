import type { Logger } from '../../shared/telemetry/logger.ts';

/** Options of a SettingsPresence. */
export interface SettingsPresenceOptions {
  /** `namespace/name` of the settings. */
  readonly settingsName: string;
  readonly gatewayClass: string;
  readonly logger: Logger;
}

/** Logs once when the settings are missing, and once when they are found after that. */
export class SettingsPresence {
  readonly #options: SettingsPresenceOptions;
  #isMissing = false;

  constructor(options: SettingsPresenceOptions) {
    this.#options = options;
  }

  /** Records whether the settings exist, once everything in the cluster has loaded. */
  record(isPresent: boolean): void {
    if (isPresent === !this.#isMissing) return;
    this.#isMissing = !isPresent;
    const { settingsName, gatewayClass, logger } = this.#options;
    const fields = { settings: settingsName, class: gatewayClass };
    if (isPresent) logger.info('GatewaySettings found', fields);
    else logger.warn('GatewaySettings not found, no route is served', fields);
  }
}
