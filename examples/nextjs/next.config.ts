import type { NextConfig } from 'next';

export default {
  poweredByHeader: false,
  // This folder, although a folder above it has a lock file too.
  turbopack: { root: import.meta.dirname },
} satisfies NextConfig;
