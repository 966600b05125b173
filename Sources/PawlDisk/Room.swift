import PawlCore
