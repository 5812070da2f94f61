import type { AdapterPayload } from 'oidc-provider';

import { MemoryAdapter } from '../../../cli/demo/identity-provider/memory-adapter.ts';

/** One kind of record of a provider, which can lose all of them, as a server that was set up again. */
export class ForgettingAdapter extends MemoryAdapter {
  readonly #ids = new Set<string>();

  override upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<undefined> {
    this.#ids.add(id);
    return super.upsert(id, payload, expiresIn);
  }

  async forgetAll(): Promise<void> {
    await Promise.all([...this.#ids].map((id) => this.destroy(id)));
    this.#ids.clear();
  }
}
