"""The screens of a site other than publishing: structure, access, adaptive content, customization and history."""
